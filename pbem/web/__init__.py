"""The pages and the API: thin, complete without a script, and never the place of a rule.

A page is made from what one service function returns; a form is answered by one service function and a redirect. A GET
changes nothing, anywhere.
"""
