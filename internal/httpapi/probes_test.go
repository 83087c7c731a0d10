package httpapi_test

import (
	"slices"
	"strings"
	"testing"
)

func byAgents(r route) bool {
	return slices.ContainsFunc(tokenRoutes, func(x route) bool { return x.method == r.method && operationOf(x) == operationOf(r) })
}

// operationOf is the operation of a route, as the document has it.
func operationOf(r route) string {
	path, _, _ := strings.Cut(r.path, "?")
	for _, mark := range []string{"{own}", "{ownhdl}", "{tak}", "{ses}", "{hdl}", "{acr}", "{key}", "{aud}", "{usr}", "{wks}"} {
		path = strings.ReplaceAll(path, mark, "{id}")
	}
	return r.method + " " + strings.NewReplacer("{fp}", "{fingerprint}", "{pol}", "{name}", "entries/000.p/1", "{tile}").Replace(path)
}

// routesOfAll are the routes of all tables, by their operation.
func routesOfAll() map[string]route {
	rows := map[string]route{}
	for _, r := range slices.Concat(keyRoutes, tokenRoutes, plain) {
		r.path, _, _ = strings.Cut(r.path, "?")
		rows[operationOf(r)] = r
	}
	return rows
}

// probes makes the probes of every operation of the document.
func probes(t *testing.T) (out []probe) {
	rows := routesOfAll()
	doc := document(t)
	for path, item := range doc["paths"].(object) {
		for method, o := range item.(object) {
			at := strings.ToUpper(method) + " " + path
			r, listed := rows[at]
			if !listed {
				t.Errorf("%s is in no table of routes: add it", at)
				continue
			}
			if at == "PUT /v1/sessions/{id}" {
				r.path = "/v1/sessions/{tak}"
			}
			if at == "PUT /v1/redaction_policies/{name}" {
				r.path = "/v1/redaction_policies/{own}" // a name is each workspace's own to take
			}
			out = append(out, probe{route: r})
			out = append(out, byParameter(t, doc, r, o.(object))...)
			out = append(out, byBody(t, doc, at, r, o.(object))...)
		}
	}
	out = append(out, probe{route: route{"POST", "/v1/hodls/import", `{"id":"{hdl}","title":"x"}`}})
	slices.SortStableFunc(out, func(a, b probe) int { return strings.Compare(operationOf(a.route), operationOf(b.route)) })
	return out
}

// byParameter names something in each parameter of an operation.
func byParameter(t *testing.T, doc object, r route, o object) (out []probe) {
	list, _ := o["parameters"].([]any)
	for _, x := range list {
		p := resolve(doc, x)
		name, in := p["name"].(string), p["in"].(string)
		if in == "path" {
			continue
		}
		send, known := values[name]
		if !known {
			t.Errorf("%s has a parameter %s that this test does not know", operationOf(r), name)
		}
		for _, value := range send {
			switch in {
			case "query":
				own := strings.ReplaceAll(r.path, "{ses}", "{own}")
				for _, path := range slices.Compact([]string{r.path, own}) {
					out = append(out, probe{route: route{r.method, path + "?" + name + "=" + strings.ReplaceAll(value, " ", "+"), r.body}})
				}
			case "header":
				own := strings.NewReplacer("{ses}", "{own}", "{tak}", "{own}", "{hdl}", "{ownhdl}").Replace(r.path)
				for _, path := range slices.Compact([]string{r.path, own}) {
					if name == "If-Match" || path == r.path { // what was made once is the caller's own
						out = append(out, probe{route{r.method, path, r.body}, []string{name, value}})
					}
				}
			}
		}
	}
	return out
}

// byBody names something in each member of an operation's body that can.
func byBody(t *testing.T, doc object, at string, r route, o object) (out []probe) {
	members := map[string]bool{}
	body := resolve(doc, o["requestBody"])
	content, _ := body["content"].(object)
	for _, media := range content {
		namingMembers(doc, media.(object)["schema"], members)
	}
	for name := range members {
		bodies, known := named[at+" "+name]
		if !known {
			t.Errorf("%s takes a %s in its body: say in named what to send", at, name)
		}
		for _, b := range bodies {
			path := strings.NewReplacer("{ses}", "{own}", "{tak}", "{own}", "{hdl}", "{ownhdl}").Replace(r.path)
			out = append(out, probe{route: route{r.method, path, b}})
		}
	}
	return out
}

// namingMembers gathers the members of a body whose name says that they name
// something.
func namingMembers(doc object, schema any, into map[string]bool) {
	s := resolve(doc, schema)
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := s[key].([]any)
		for _, x := range list {
			namingMembers(doc, x, into)
		}
	}
	if s["items"] != nil {
		namingMembers(doc, s["items"], into)
	}
	properties, _ := s["properties"].(object)
	for name, x := range properties {
		if name == "jti" || name == "token" || strings.HasSuffix(name, "_token") || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_ids") {
			into[name] = true
		}
		namingMembers(doc, x, into)
	}
}

// resolve follows a reference within the document.
func resolve(doc object, x any) object {
	o, _ := x.(object)
	ref, _ := o["$ref"].(string)
	if ref == "" {
		return o
	}
	at := any(doc)
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.(object)[part]
	}
	return resolve(doc, at)
}
