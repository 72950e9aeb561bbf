"""Write the next step of the database, as README.md beside this file says."""

import sys

from pbem.store import migrations

print(migrations.write(" ".join(sys.argv[1:]) or sys.exit('Say what changes: make migration ARGS="Add a column"')))
