#!/bin/sh
[ "$(echo PING | nc localhost 3310)" = PONG ]
