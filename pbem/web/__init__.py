"""The pages and the API: thin, complete without a script, and never the place of a rule.

A page is made from what one service function returns. A form is answered by one service function and a redirect. A GET
never changes anything.
"""
