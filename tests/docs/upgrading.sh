# shellcheck shell=bash
start-fleet
