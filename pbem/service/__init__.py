"""Use cases: one public function, one transaction, one sentence in its docstring.

The web, the worker, the mail reader and the command line do things by calling these and in no other way.
"""
