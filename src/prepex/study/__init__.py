"""Durable studies: an experiment in a database, shared by many workers and sites.

    study         Study: create, open, ask, tell, correct, void, status, certificate, report
    check         an independent check of certificates; numpy only

The log of events is the truth. Nothing is imported here, so that a check needs neither a database nor a compiler.
"""
