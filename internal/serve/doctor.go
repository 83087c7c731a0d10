package serve

import (
	"context"

	"hodl/internal/doctor"
)

// Examine looks for what is wrong with an installation, whether a server runs or not,
// and changes nothing. Each check is told as it ends; progress may be nil.
func Examine(ctx context.Context, c Config, tell func(doctor.Check), progress func(stage string, done, total int64)) error {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		tell(doctor.Check{Name: "settings", Status: doctor.Failed, Detail: err.Error(), Mend: "hodl config shows where each setting comes from"})
		return ctx.Err()
	}
	e := doctor.Examination{
		Options: c.options(nil), MasterKeyFile: c.masterFile(), Listen: c.Listen, KeyRotation: c.KeyRotation,
		Now: c.Now, Tell: tell, Progress: progress,
	}
	return e.Run(ctx)
}
