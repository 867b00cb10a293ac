# placeholder until muster_add_plugin() is written
