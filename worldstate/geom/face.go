package geom

// Face is one of the six sides of a block, numbered as on the wire.
type Face uint8

// The faces, in the protocol's order.
const (
	Down Face = iota
	Up
	North // -Z
	South // +Z
	West  // -X
	East  // +X
)

// Faces lists all six faces in the protocol's order.
var Faces = [6]Face{Down, Up, North, South, West, East}

// HorizontalFaces lists the four sides in the order in which yaw counts them.
var HorizontalFaces = [4]Face{South, West, North, East}

var (
	normals   = [6]BlockPos{{0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}, {-1, 0, 0}, {1, 0, 0}}
	faceNames = [6]string{"down", "up", "north", "south", "west", "east"}
	clockwise = [6]Face{Down, Up, East, West, North, South}
	yaws      = [6]float32{0, 0, 180, 0, 90, -90}
)

// Valid tells whether f is one of the six faces.
func (f Face) Valid() bool { return f <= East }

// Normal returns the step of one block out of the face. An invalid face gives the zero step.
func (f Face) Normal() BlockPos {
	if !f.Valid() {
		return BlockPos{}
	}
	return normals[f]
}

// Opposite returns the face on the other side.
func (f Face) Opposite() Face { return f ^ 1 }

// Clockwise returns the side a quarter turn to the right seen from above; up and down stay.
func (f Face) Clockwise() Face {
	if !f.Valid() {
		return f
	}
	return clockwise[f]
}

// CounterClockwise returns the side a quarter turn to the left seen from above; up and down stay.
func (f Face) CounterClockwise() Face {
	if f.IsHorizontal() {
		return f.Clockwise().Opposite()
	}
	return f
}

// IsHorizontal tells whether f is one of the four sides.
func (f Face) IsHorizontal() bool { return f >= North && f <= East }

// Yaw returns the yaw in degrees of somebody who looks out of the face; 0 for up and down.
func (f Face) Yaw() float32 {
	if !f.Valid() {
		return 0
	}
	return yaws[f]
}

// String returns the name used in block state properties.
func (f Face) String() string {
	if !f.Valid() {
		return "invalid"
	}
	return faceNames[f]
}

// ParseFace reads a name as String writes it.
func ParseFace(s string) (Face, bool) {
	for i, n := range faceNames {
		if n == s {
			return Face(i), true
		}
	}
	return 0, false
}
