"""`python -m pbem`, the same as `pbem`."""

from pbem.cli import main

main(prog_name="pbem")
