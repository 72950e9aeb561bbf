"""Games of other packages, played in processes of their own.

Rules are pure functions, so those of a package that the operator does not trust are run by a child process with limits on
its time and memory; this process never imports them. Nothing in here knows a table, a database or a page.

    offers     what is installed, what is in its way, and what is offered to this server
    foreign    a game as this process sees it: the shapes of its values, and calls to the child
    process    the child as its parent sees it: started when needed, ended when it takes too long
    child      the program that the child runs
    wire       what the two say to each other
"""
