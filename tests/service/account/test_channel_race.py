"""Two people who switch on a channel with the same address, at the same moment."""

from functools import partial

from pbem.domain.errors import BadInput
from pbem.service.account import channels
from tests.channels.far_end import code_sent_to
from tests.service.database import count_calls
from tests.service.races import at_call


def test_an_address_that_two_people_prove_at_once_is_one_persons(server, person):
    people = person("Ann"), person("Ben")
    entered = [server.run(channels.enter, each, "ntfy", "https://ntfy.sh/one-of-us") for each in people]
    codes = [code_sent_to(server, channel) for channel in entered]
    with count_calls(server.store) as made:
        server.dry_run(channels.prove, people[0], entered[0], codes[0])
    proofs = [partial(server.run, channels.prove, *given) for given in zip(people, entered, codes, strict=True)]
    # At its commit, everything has been done.
    proved, refused = at_call(server.store, len(made) + 1, *proofs)
    assert proved is True
    assert isinstance(refused, BadInput)
