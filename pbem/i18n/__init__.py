"""The language that people are spoken to in: translated sentences, and the catalogues that hold them."""
