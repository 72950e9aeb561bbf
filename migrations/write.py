"""Write the next migration; see README.md beside this file."""

import sys

from pbem.store import migrations

print(migrations.write(" ".join(sys.argv[1:]) or sys.exit('Say what changes: make migration ARGS="Add a column"')))
