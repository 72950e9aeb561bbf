"""What keeps a server well: setting it up, serving, checking, saving, moving.

The commands of `pbem` say what to do and show what came of it; the work is here, without a terminal in sight.
"""
