"""The commands about the keys that links are signed with."""

import click

from pbem.ops import key_rotation
from pbem.ops.commands.groups import KEYS
from pbem.ops.commands.terminal import command, counted, read_settings


@command(KEYS, "list", example="pbem keys list")
def keys_list() -> None:
    """Show the keys, newest first, without their secrets."""
    for key in key_rotation.listed(read_settings()):
        use = "signs new links" if key.signs else f"old links work; may be retired on {key.may_retire_on}"
        click.echo(f"{key.id}  made {key.made}  {use}")


@command(KEYS, "new", example="pbem keys new")
def keys_new() -> None:
    """Create keys if the old ones are lost for good. All links stop working, and open turns are emailed again.

    First look for the old ones beside the backups, and stop the server (on PostgreSQL, all web servers and workers).
    """
    renewed = key_rotation.new(read_settings())
    click.echo(
        f"The new keys are made; keep a copy. Start the server: it emails {counted(renewed.emailed_again, 'open turn')} again."
    )


@command(KEYS, "rotate", example="pbem keys rotate")
def keys_rotate() -> None:
    """Create a new signing key. Links made with older keys still work."""
    click.echo(f"Key {key_rotation.rotate(read_settings())} signs from the server's next start. Restart it now.")


@command(KEYS, "retire", example="pbem keys retire a")
@click.argument("key_id", metavar="KEY")
def keys_retire(key_id: str) -> None:
    """Remove a KEY that no live link needs."""
    key_rotation.retire(read_settings(), key_id)
    click.echo(f"Key {key_id} is gone. Restart the server.")


@command(KEYS, "revoke", example="pbem keys rotate && pbem keys revoke a")
@click.argument("key_id", metavar="KEY")
def keys_revoke(key_id: str) -> None:
    """Remove a KEY that leaked. Its links stop working, and open turns are emailed again.

    First stop the server (on PostgreSQL, all web servers and workers).
    """
    renewed = key_rotation.revoke(read_settings(), key_id)
    click.echo(
        f"Key {key_id} is gone, and its links are dead. Start the server: it emails {counted(renewed.emailed_again, 'open turn')} again."
    )
