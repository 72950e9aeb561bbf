"""The organisers' desk: who may act there, what it shows, and every act on record."""
