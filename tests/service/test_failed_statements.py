"""What a failing statement leaves in the log."""

import pytest
from sqlalchemy.exc import DBAPIError

from pbem.store.schema import PERSON


def test_the_error_of_a_statement_does_not_show_what_was_to_be_written(server):
    row = {column.name: None for column in PERSON.columns if column.name != "id"} | {"address": "ann@example.org"}
    with pytest.raises(DBAPIError) as raised:
        server.store.write(lambda tx: tx.execute(PERSON.insert(), row))
    assert "INSERT INTO person" in str(raised.value)
    assert "ann@example.org" not in str(raised.value).replace(str(raised.value.orig), "")
