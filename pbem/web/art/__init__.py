"""The pictures of the site: cards, tiles, dice and coins, all drawn by us.

`signs.svg` holds what was drawn by hand; `drawings.py` puts signs together to cards and dice; `pictures.py` puts them on a
page. Everything stands in the page itself: no picture is a request of its own, so pages are complete on a slow line, on
paper and under the strictest policy. A picture never carries what is not said in words beside it.
"""
