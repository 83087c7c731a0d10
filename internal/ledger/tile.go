package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// A Tile names 1 to 256 consecutive hashes of a level, or as many entries.
type Tile struct {
	Level int   // Entries for the entries themselves
	Index int64 // of the tile within its level
	Width int   // of it; 256 when it is full
}

// Entries is the level of entry bundles.
const Entries = -1

// ErrTilePath tells that a path names no tile.
var ErrTilePath = errors.New("no tile is named so: <level>/<index>[.p/<width>], or entries/… (c2sp.org/tlog-tiles)")

// ParseTile reads a tile's path behind tile/, such as 0/x001/067.p/8.
func ParseTile(path string) (Tile, error) {
	level, rest, _ := strings.Cut(path, "/")
	t := Tile{Level: Entries, Width: TileWidth}
	if level != "entries" {
		n, err := strconv.ParseUint(level, 10, 8)
		if err != nil || n > 63 {
			return t, ErrTilePath
		}
		t.Level = int(n)
	}
	if index, width, partial := strings.Cut(rest, ".p/"); partial {
		n, err := strconv.ParseUint(width, 10, 8)
		if err != nil || n == 0 {
			return t, ErrTilePath
		}
		rest, t.Width = index, int(n)
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(rest, "x", ""), "/") {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil || n > 999 || t.Index > 1<<52 {
			return t, ErrTilePath
		}
		t.Index = t.Index*1000 + int64(n)
	}
	// One tile has one name: what we would not write ourselves is none.
	if t.Path() != path {
		return t, ErrTilePath
	}
	return t, nil
}

// Path is the tile's path behind tile/.
func (t Tile) Path() string {
	index := fmt.Sprintf("%03d", t.Index%1000)
	for n := t.Index / 1000; n > 0; n /= 1000 {
		index = fmt.Sprintf("x%03d/", n%1000) + index
	}
	level := "entries"
	if t.Level != Entries {
		level = strconv.Itoa(t.Level)
	}
	if t.Width < TileWidth {
		index += ".p/" + strconv.Itoa(t.Width)
	}
	return level + "/" + index
}

// Of reports whether a tree of that size has the tile. At each level there is at
// most one partial tile, the last, and of it no more than is there.
func (t Tile) Of(size int64) bool {
	shift := TileHeight * max(t.Level, 0)
	if shift >= 63 || t.Index < 0 || t.Width < 1 || t.Width > TileWidth {
		return false
	}
	return t.Index < 1<<54 && t.Index*TileWidth+int64(t.Width) <= size>>shift
}

// Span is the range of hashes of its level, or of entries, that a tile holds.
func (t Tile) Span() Span {
	from := t.Index * TileWidth
	return Span{from, from + int64(t.Width)}
}

// TilesOf returns the tiles of a level, of a tree of that size, in their order.
func TilesOf(level int, size int64) []Tile {
	var out []Tile
	n := size >> (TileHeight * max(level, 0))
	for i := int64(0); i*TileWidth < n; i++ {
		out = append(out, Tile{level, i, int(min(n-i*TileWidth, TileWidth))})
	}
	return out
}

// AppendEntry adds an entry to a bundle.
func AppendEntry(bundle, entry []byte) []byte {
	bundle = binary.BigEndian.AppendUint16(bundle, uint16(len(entry))) //nolint:gosec // ours are 32 or 64 bytes
	return append(bundle, entry...)
}

// ParseBundle reads the entries of a bundle.
func ParseBundle(b []byte) ([][]byte, error) {
	var out [][]byte
	for len(b) > 0 {
		if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
			return nil, errors.New("the entry bundle is cut off")
		}
		end := 2 + int(binary.BigEndian.Uint16(b))
		out = append(out, b[2:end])
		b = b[end:]
	}
	return out, nil
}

// Tiles reads the hashes of tiles, 32 bytes each, in the order asked for.
type Tiles func([]Tile) ([][]byte, error)

// Height, ReadTiles and SaveTiles are asked by [tlog.TileHashReader], which holds
// every tile against the root before it believes it.
func (Tiles) Height() int { return TileHeight }

// ReadTiles reads tiles.
func (read Tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	list := make([]Tile, len(wanted))
	for i, t := range wanted {
		list[i] = Tile{t.L, t.N, t.W}
	}
	return read(list)
}

// SaveTiles keeps nothing.
func (Tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// FrontierOf makes the frontier of a tree of that size from its last tiles, one of
// each level.
func FrontierOf(size int64, tiles Tiles) (*Frontier, error) {
	out := &Frontier{size: size}
	for level := 62 / TileHeight; level >= 0; level-- {
		n := size >> (TileHeight * level)
		width := int(n % TileWidth)
		if width == 0 {
			continue
		}
		list, err := tiles([]Tile{{level, n / TileWidth, width}})
		if err != nil {
			return nil, err
		}
		if len(list[0]) != width*tlog.HashSize {
			return nil, fmt.Errorf("the last tile of level %d holds %d bytes for %d hashes", level, len(list[0]), width)
		}
		part := &Frontier{}
		for h := list[0]; len(h) > 0; h = h[tlog.HashSize:] {
			part.Append(Hash(h[:tlog.HashSize]), nil)
		}
		out.roots = append(out.roots, part.roots...)
	}
	return out, nil
}
