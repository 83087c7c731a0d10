// Bundle packs the program as a bundle that desktop agents install with a click
// (.mcpb): its manifest and the binary, for the platform it was built for. It holds
// no key: the agent's program asks for one.
package main

import (
	"archive/zip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
)

func main() {
	manifest := flag.String("manifest", "install/manifest.json", "the manifest")
	binary := flag.String("binary", "bin/hodl", "the program")
	out := flag.String("out", "bin/hodl.mcpb", "the bundle")
	flag.Parse()
	if err := pack(*manifest, *binary, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// platforms are the names that manifests have for systems.
var platforms = map[string]string{"windows": "win32"}

func pack(manifest, binary, out string) (err error) {
	text, err := forPlatform(manifest, runtime.GOOS)
	if err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	z := zip.NewWriter(f)
	w, err := z.Create("manifest.json")
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := program(z, binary); err != nil {
		return err
	}
	return z.Close()
}

// forPlatform returns the manifest for one system.
func forPlatform(file, goos string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	name := platforms[goos]
	if name == "" {
		name = goos
	}
	m["compatibility"] = map[string]any{"platforms": []string{name}}
	return json.MarshalIndent(m, "", "  ")
}

func program(z *zip.Writer, binary string) error {
	in, err := os.Open(binary)
	if err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	h := &zip.FileHeader{Name: "server/hodl", Method: zip.Deflate}
	h.SetMode(0o755)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = io.Copy(w, in)
	}
	return err
}
