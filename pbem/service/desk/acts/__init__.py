"""Moderation: what organisers and hosts do to tables and for people, each act with a reason and on record.

    doing       how any act is done, or shown before it is done
    clocks      pause, resume, extend, freeze, unfreeze, close
    rewinding   the game goes on from an earlier place
    seats       a seat goes to somebody else, to a bot, or on offer
    correcting  something that was agreed, or a name, had been wrong
    talking     the text of what was said is taken away
    mailing     mails are sent again, mails and deadlines that were parked are tried again
    letters     a mail is read by somebody who is not its reader
    persons     an address is changed, or tried again, somebody is banned
    merging     two addresses turn out to be one person's
    parting     a copy of what is known of somebody, or its end
    outages     the server was away, and nobody had noticed
    desk        what is shown of a table to whoever moderates it
    told        what its players read of all that

An act names people by their numbers and never decides anything that the rules of a game decide.
"""
