package serve

import "hodl/internal/seal"

// CreateMasterKey makes a master key file for the servers of one database. It is
// never written over: the error is then [io/fs.ErrExist].
func CreateMasterKey(file string) error {
	_, err := seal.CreateMaster(file)
	return err
}
