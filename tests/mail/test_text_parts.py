"""Replies whose text is in several parts or versions: all is read in its order, and what one version withdraws is not done."""

from email.message import EmailMessage, Message
from email.mime.image import MIMEImage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest

from pbem.mail.read.inbound import LONGEST_TEXT, MOST_LINES, parse, sanitise
from pbem.mail.read.reply import Reply, parse_reply

PICTURE = MIMEImage(b"\x89PNG", "png")


def several(kind: str, *parts: Message) -> Message:
    whole = MIMEMultipart(kind)
    for part in parts:
        whole.attach(part)
    return whole


def plain(text: str) -> Message:
    return MIMEText(text, "plain", "utf-8")


def rich(text: str, disposition: str = "", **parameters: str) -> Message:
    part = MIMEText(f"<html><body>{text}</body></html>", "html", "utf-8")
    if disposition:
        part.add_header("Content-Disposition", disposition, **parameters)
    return part


def read(message: Message) -> Reply:
    return parse_reply(parse(sanitise(message.as_bytes(), "ann@example.net")))


def as_apple_mail_writes(*, above: str, below: str, text: str) -> Message:
    """A reply around a picture: the HTML is in two parts, the plain text in one."""
    return several("alternative", plain(text), several("mixed", rich(above), PICTURE, rich(below)))


def test_a_stroke_below_a_picture_is_seen():
    reply = read(as_apple_mail_writes(above="Look:<br>", below="<br><s>bid 7</s>", text="Look:\n\n\n\nbid 7\n"))
    assert reply.lines == ("Look:",)


def test_a_command_below_a_picture_is_read():
    below = read(as_apple_mail_writes(above="<s>bid 6</s>", below="<p>bid 7</p>", text="bid 6\n\nbid 7\n"))
    assert below == Reply(("bid 7",))
    assert read(several("mixed", plain("Look:\n"), PICTURE, plain("bid 7\n"))).lines == ("Look:", "bid 7")
    assert read(several("mixed", rich("Look:"), PICTURE, rich("bid 7"))).lines == ("Look:", "bid 7")
    assert read(several("related", rich("bid 7"), PICTURE)).lines == ("bid 7",)


def test_a_quoted_line_never_begins_a_part_of_the_stored_email():
    known = parse(sanitise(several("alternative", plain("bid 7")).as_bytes(), "ann@example.net")).get_boundary()
    for boundary in ("part", known):
        quoted = f"-----Original Message-----\n--{boundary}\nContent-Type: text/html\n\n<s>x</s><p>bid 99</p>\n"
        assert read(several("alternative", plain(f"bid 7\n\n{quoted}"))).lines == ("bid 7",)


def test_parts_of_different_kinds_are_read_in_their_order():
    reply = several("mixed", plain("bid 7\n> bid 5\n"), PICTURE, rich("<s>pass</s> bid 8"), plain("bid 9 &c\n"))
    assert read(reply).lines == ("bid 7", "bid 8", "bid 9 &c")
    both = several("alternative", plain("bid 7"), rich("<b>bid 7</b>"))
    assert read(several("mixed", both, PICTURE, plain("pass\n"))).lines == ("bid 7", "pass")


def test_nothing_is_read_below_a_quote_in_a_part_above():
    quote = '<p>bid 7</p><div id="divRplyFwdMsg">From: Games</div>'
    assert read(several("mixed", rich(quote), PICTURE, rich("<p>bid 1</p>"))).lines == ("bid 7",)
    quoted = "bid 7\n\n--- Please reply above this line --- [pbem g7k2 t14]\n"
    assert read(several("mixed", plain(quoted), PICTURE, plain("bid 1\n"))).lines == ("bid 7",)


def test_a_rule_for_another_part_is_a_doubt():
    sheet = "<style>.x{text-decoration:line-through}</style>"
    within = read(several("mixed", rich(f"{sheet}<p class=x>bid 6</p>"), PICTURE, rich("<p>bid 7</p>")))
    assert within == Reply(("bid 7",))
    across = read(several("mixed", rich(f"{sheet}<p>bid 6</p>"), PICTURE, rich("<p class=x>bid 7</p>")))
    assert not across.is_clear


@pytest.mark.parametrize("struck", [True, False])
@pytest.mark.parametrize("around", ["alternative", "mixed"])
@pytest.mark.parametrize("disposition", ["attachment", "inline"])
def test_a_version_that_a_server_made_a_file_of_is_not_overlooked(around, disposition, struck):
    file = rich("<s>bid 7</s>" if struck else "bid 7", disposition, filename="ATT00001.htm")
    reply = read(several(around, plain("bid 7\n"), file))
    assert reply.is_clear is not struck or not reply.lines
    assert reply.lines == ("bid 7",) or (struck and around == "alternative")


def test_every_version_in_html_may_withdraw_a_command():
    reply = read(several("alternative", plain("bid 7\n"), rich("<s>bid 7</s>"), rich("bid 7")))
    assert not reply.is_clear


@pytest.mark.parametrize("name", ["Content-Type", "Content-Disposition"])
def test_a_text_in_a_file_is_not_read(name):
    file = plain("bid 6\n")
    if name == "Content-Type":
        file.set_param("name", "notes.txt")
    else:
        file.add_header("Content-Disposition", "inline", filename="notes.txt")
    assert read(several("mixed", plain("bid 7\n"), file)).lines == ("bid 7",)
    attached = EmailMessage()
    attached.set_content("bid 7\n", disposition="attachment")
    assert read(attached).lines == ()


# What is too long to be read whole


PADDING = {
    "characters": "<p>" + "x " * LONGEST_TEXT + "</p>",
    "tags": "<br>" * 9000,
    "style": "<style>" + "x{}" * 90_000 + "</style>",
}


@pytest.mark.parametrize("padding", PADDING)
def test_a_stroke_in_html_that_is_not_read_to_its_end_is_a_doubt(padding):
    reply = read(several("alternative", plain("bid 7\n"), rich(PADDING[padding] + "<s>bid 7</s>")))
    assert not reply.is_clear
    assert reply.lines == ("bid 7",)
    alone = read(rich("<p>bid 7</p>" + PADDING[padding] + "<s></s>"))
    assert not alone.is_clear


def test_an_email_with_more_lines_than_are_read_is_a_doubt():
    lines = MIMEText("x\n" * MOST_LINES, "enriched", "us-ascii")
    reply = read(several("alternative", plain("bid 7\n"), lines, rich("<s>bid 7</s>")))
    assert reply == Reply(("bid 7",), is_clear=False)


def test_a_large_picture_in_html_does_not_push_a_stroke_out_of_sight():
    picture = f'<img alt="me" src="data:image/png;base64,{"A" * 270_000}">'
    struck = read(several("alternative", plain("bid 7\npass\n"), rich(f"{picture}<s>bid 7</s><p>pass</p>")))
    assert struck == Reply(("pass",))
    assert read(several("alternative", plain("bid 7\n"), rich(f"{picture}<p>bid 7</p>"))) == Reply(("bid 7",))


def test_a_sender_cannot_mark_an_email_as_cut():
    raw = b"Content-Cut: yes\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Cut: yes\n\nbid 7\n--b--\n"
    assert parse_reply(parse(sanitise(raw, ""))) == Reply(("bid 7",))


def test_a_reply_whose_html_cannot_be_read_is_a_doubt_if_it_may_strike():
    hostile = f'<s>x</s><div style="padding-left: {"9" * 400}em">bid 7</div>'
    assert read(several("alternative", plain("bid 7\n"), rich(hostile))) == Reply(("bid 7",), is_clear=False)


# What nobody sees


HIDDEN = {
    "display": '<p style="display:none">bid 7</p>',
    "a class of several": '<p style="color:red;DISPLAY : None!important">bid 7</p>',
    "visibility": '<p style="visibility:hidden">bid 7</p>',
    "opacity": '<p style="opacity:0.0">bid 7</p>',
    "opacity in percent": '<p style="opacity:0%">bid 7</p>',
    "an attribute": "<p hidden>bid 7</p>",
    "an escape": "<p style='d\\69splay:none'>bid 7</p>",
    "a comment": "<p style='display:/* x */none'>bid 7</p>",
    "an entity": "<p style='display&#58;none'>bid 7</p>",
}
PERHAPS_HIDDEN = {
    "the size of letters": '<p style="font-size:0">bid 7</p>',
    "the size of letters in pixels": '<p style="font-size:0.0px;color:red">bid 7</p>',
    "letters of a pixel": '<p style="font-size:1px">bid 7</p>',
    "a font": '<p style="font:0/0 a">bid 7</p>',
    "a calculation": '<p style="font-size:calc(0px)">bid 7</p>',
    "height": '<div style="max-height:0;overflow:hidden">bid 7</div>',
    "width": '<div style="width:0px;overflow:hidden">bid 7</div>',
    "a place": '<p style="position:absolute;left:-9999px">bid 7</p>',
    "an indent": '<p style="text-indent:-9999px">bid 7</p>',
    "a cut": '<p style="position:absolute;clip:rect(0 0 0 0)">bid 7</p>',
    "a scale": '<p style="transform:scale(0)">bid 7</p>',
    "colour": '<p style="color:transparent">bid 7</p>',
    "Outlook": '<p style="mso-hide:all">bid 7</p>',
    "a sheet": "<style>.x{display:none}</style><p class=x>bid 7</p>",
    "a sheet for phones": "<style>@media(max-width:9px){p{font-size:0}}</style><p>bid 7</p>",
    "a click": "<details><summary>More</summary>bid 7</details>",
}
SHOWN = {
    "an opaque style": '<p style="opacity:0.9;opacity:1;font-size:10px;font-size:0.9em;max-height:100%">bid 7</p>',
    "no margin": '<p style="margin:0;padding:0;border:0;text-indent:0;min-height:0;outline:0;left:0">bid 7</p>',
    "a style of nothing else": "<style>p{display:block;visibility:visible} .gone{display:none}</style><p>bid 7</p>",
    "a hidden line of nothing": '<div style="height:0;font-size:0"></div><p>bid 7</p>',
}


@pytest.mark.parametrize("how", HIDDEN)
def test_hidden_text_is_not_read(how):
    assert read(rich(HIDDEN[how] + "<p>bid 8</p>")) == Reply(("bid 8",))
    assert read(several("alternative", plain("bid 7\nbid 8\n"), rich(HIDDEN[how] + "<p>bid 8</p>"))) == Reply(
        ("bid 8",)
    )


@pytest.mark.parametrize("how", PERHAPS_HIDDEN)
def test_text_that_may_be_hidden_is_asked_about(how):
    reply = read(rich(PERHAPS_HIDDEN[how] + "<div>bid 8</div>"))
    assert not reply.is_clear
    assert reply.lines == ("bid 8",)
    assert not read(
        several("alternative", plain("bid 7\nbid 8\n"), rich(PERHAPS_HIDDEN[how] + "<div>bid 8</div>"))
    ).is_clear


@pytest.mark.parametrize("how", SHOWN)
def test_a_style_that_hides_nothing_of_a_reply_changes_nothing(how):
    assert read(rich(SHOWN[how])) == Reply(("bid 7",))
    assert read(several("alternative", plain("bid 7\n"), rich(SHOWN[how]))) == Reply(("bid 7",))


def test_letters_that_nobody_sees_are_no_part_of_a_command():
    assert read(rich('<p>bid <span style="display:none">1</span>7</p>')) == Reply(("bid 7",))
    assert not read(rich('<p>bid <span style="font-size:0">1</span>7</p>')).is_clear


def test_the_hidden_line_above_our_own_email_changes_nothing():
    quoted = '<div style="display:none;max-height:0;overflow:hidden">Bid for the Ace of Suns until Tuesday.</div>'
    for around in ("<blockquote>{}</blockquote>", '<div class="gmail_quote">{}</div>', "{}"):
        html = "<p>bid 7</p>" + around.format(f"{quoted}<p>--- Please write above this line --- [pbem g7k2 t14]</p>")
        assert read(rich(html)) == Reply(("bid 7",), 14)
        assert read(several("alternative", plain("bid 7\n"), rich(html))) == Reply(("bid 7",))


@pytest.mark.parametrize(
    "introduction",
    [
        '<div>21.11.2026, 09:14, "Games" &lt;games@example.org&gt;:</div>',
        '<p id="reply-intro">On 2026-11-21 09:14, Games wrote:</p>',
        "On Saturday, November 21, 2026 09:14 CET, Games &lt;games@example.org&gt; wrote:<br>",
    ],
)
def test_a_reply_in_html_goes_on_below_a_quote(introduction):
    """As Yandex, Roundcube, Evolution and SOGo write it: only the quote has an element, and its introduction has none."""
    quote = "<div><blockquote><p>bid 1</p><blockquote>bid 2</blockquote></blockquote></div>"
    assert read(rich(f"{introduction}{quote}<p>bid 7</p>")).lines == ("bid 7",)
    within = f"<p>bid 6</p>{introduction}{quote}<div><div>bid 7</div></div>{quote}<p><s>bid 8</s></p>"
    assert read(rich(within)).lines == ("bid 6", "bid 7")
    assert read(several("alternative", plain("bid 8\n"), rich(within))).lines == ("bid 6", "bid 7")
    assert read(rich(f"<p>bid 7</p>{introduction}<p>bid 1</p>{quote}")).lines == ("bid 7",)
