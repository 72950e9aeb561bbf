"""The language of pages, emails and messages: translated sentences, and the catalogues that hold them."""
