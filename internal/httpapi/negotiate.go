package httpapi

import (
	"mime"
	"strconv"
	"strings"

	"hodl"
	"hodl/internal/render"
)

// negotiate picks the rendering a client likes best of those there are (RFC 9110
// §12.5.1). No Accept, or one that takes anything, gets JSON.
func negotiate(accept string) (render.Format, error) {
	if accept == "" {
		return render.JSON, nil
	}
	best, weight := render.Format(""), 0.0
	for part := range strings.SplitSeq(accept, ",") {
		kind, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		f, q := formatOf(kind), quality(params["q"])
		if f != "" && q > weight {
			best, weight = f, q
		}
	}
	if best == "" {
		return "", hodl.Errorf(hodl.NotAcceptable, "there is no rendering of the type in Accept").WithHint("accept one of: %s", strings.Join(types(), ", "))
	}
	return best, nil
}

func formatOf(kind string) render.Format {
	for _, f := range render.Formats() {
		own, _, _ := mime.ParseMediaType(f.ContentType())
		top, _, _ := strings.Cut(own, "/")
		if kind == own || kind == "*/*" || kind == top+"/*" {
			return f
		}
	}
	return ""
}

func types() (out []string) {
	for _, f := range render.Formats() {
		own, _, _ := mime.ParseMediaType(f.ContentType())
		out = append(out, own)
	}
	return out
}

func quality(q string) float64 {
	if q == "" {
		return 1
	}
	v, err := strconv.ParseFloat(q, 64)
	if err != nil {
		return 0
	}
	return v
}
