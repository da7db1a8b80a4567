package main

import "blockworld/worldstate/registry"

// correct repairs what minecraft-data 3.119.0 is known to have wrong in its id tables. Each line says how it is known.
func correct(v registry.Protocol, state, dir string, m map[string]int) {
	// 1.21.5 play serverbound: spectate and test_instance_block_action are exchanged. Ids follow the alphabet, and 1.21.6
	// has them in that order.
	if v == registry.V1_21_5 && state == "play" && dir == "toServer" {
		m["spectate"], m["test_instance_block_action"] = m["test_instance_block_action"], m["spectate"]
	}
	// custom_report_details and server_links go to the client only.
	if state == "configuration" && dir == "toServer" {
		delete(m, "custom_report_details")
		delete(m, "server_links")
	}
}
