start-fleet
