"""The pictures of the site: cards, tiles, dice and coins, all drawn for it.

`signs.svg` has the signs, drawn by hand; `drawings.py` puts them together to cards and dice; `pictures.py` puts those on a
page. Pictures are part of the page and need no request, so pages are complete on a slow line, on paper and under the
strictest policy. A picture never says anything that the words beside it do not.
"""
