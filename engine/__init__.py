"""The rules of the house: facts, views, decisions, chance, and the games.

Standard library only. Nothing here reads a clock, a file, the network or a global source of randomness, and no state
holds a floating-point number: the same log gives the same table on every machine and in every year.
"""
