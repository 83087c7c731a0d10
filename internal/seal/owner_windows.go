package seal

import "os"

// keepOwner leaves it to the folder's access list.
func keepOwner(*os.File, string) error { return nil }
