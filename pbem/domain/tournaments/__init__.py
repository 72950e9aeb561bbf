"""Tournaments as arithmetic: who meets at which table, who is ahead and why, and who goes on. The door is `pairing`.

All of it is a pure function of what was agreed, the entrants, the results and a public seed, so anyone can make a pairing again;
the page "Tournaments" of the handbook says how. Nothing here knows a person, a game or a moment. Luck is only what `lots` draws
from the seed, and no decision rests on a float.
"""
