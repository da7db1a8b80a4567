// Package nbt reads and writes the game's binary tags, within bounds.
//
// In flow bytes of packets (network form: the root has no name) and files (the root is named, gzip, zlib or plain), out
// flow trees of the closed set Value, or the number of bytes to skip. Nothing is believed before it is checked: no
// length is allocated that the remaining bytes cannot hold, depth and number of values are limited, and a compressed
// file is limited in its unpacked size. All errors wrap ErrInvalid, ErrTruncated, ErrTooDeep or ErrTooLarge.
package nbt
