// Package geom holds the few shapes the whole program shares: block positions, faces, boxes, looks and rays.
//
// All lengths are blocks, all angles degrees, in the game's own frame: X east, Y up, Z south, yaw 0 looking
// south and growing to the west, pitch 90 straight down. Everything is a value; nothing here knows a version.
package geom
