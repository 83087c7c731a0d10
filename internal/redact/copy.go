package redact

import (
	"maps"
	"slices"

	"hodl"
)

// copyContent copies everything a later write could reach; strings cannot be
// written to. Nil lists become empty ones, so that nobody downstream can leak the
// difference or answer null for it.
func copyContent(c hodl.Content) hodl.Content {
	c.Tabs = list(c.Tabs)
	for i := range c.Tabs {
		c.Tabs[i].ScrollYPct = value(c.Tabs[i].ScrollYPct)
	}
	c.Media = list(c.Media)
	for i := range c.Media {
		c.Media[i].TimestampS = value(c.Media[i].TimestampS)
	}
	c.Thread = list(c.Thread)
	for i := range c.Thread {
		copyNode(&c.Thread[i])
	}
	c.Tags = list(c.Tags)
	c.Notes = list(c.Notes)
	c.Hodls = list(c.Hodls)
	for i := range c.Hodls {
		copyHodl(&c.Hodls[i])
	}
	c.Provenance = maps.Clone(c.Provenance)
	if c.Provenance == nil {
		c.Provenance = map[string]hodl.Provenance{}
	}
	return c
}

func copyNode(n *hodl.Node) {
	n.Evidence = slices.Clone(n.Evidence)
	n.Supports = slices.Clone(n.Supports)
	n.DependsOn = slices.Clone(n.DependsOn)
	n.Confidence = value(n.Confidence)
}

func copyHodl(h *hodl.Hodl) {
	h.Tags = list(h.Tags)
	h.Location = value(h.Location)
	if h.Location != nil {
		h.Location.TimestampS = value(h.Location.TimestampS)
		h.Location.Selection = value(h.Location.Selection)
	}
}

func list[T any](s []T) []T {
	return append(make([]T, 0, len(s)), s...)
}

func value[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
