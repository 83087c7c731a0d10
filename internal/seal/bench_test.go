package seal_test

import (
	"crypto/aes"
	"crypto/cipher"
	"testing"
)

// BenchmarkBare16K is the floor: the cipher alone, into a fresh buffer.
func BenchmarkBare16K(b *testing.B) {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	bare, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		b.Fatal(err)
	}
	plaintext := make([]byte, 16<<10)
	b.SetBytes(int64(len(plaintext)))
	b.ReportAllocs()
	for b.Loop() {
		bare.Seal(nil, nil, plaintext, nil)
	}
}

func BenchmarkSeal16K(b *testing.B) {
	r, _, _ := newRing(b)
	plaintext := make([]byte, 16<<10)
	b.SetBytes(int64(len(plaintext)))
	b.ReportAllocs()
	for b.Loop() {
		mustSeal(b, r, "live/ses_8f3aZ91b/0123456789abcdef", plaintext)
	}
}

func BenchmarkOpen16K(b *testing.B) {
	r, _, _ := newRing(b)
	sealed := mustSeal(b, r, "o", make([]byte, 16<<10))
	b.SetBytes(16 << 10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Open(ctx, "wks_a", "session", "o", sealed); err != nil {
			b.Fatal(err)
		}
	}
}
