package serve

import "hodl/internal/seal"

// CreateMasterKey makes a master key file for the servers of one database. It is
// never written over: the error is then [io/fs.ErrExist].
func CreateMasterKey(file string) error {
	_, err := seal.CreateMaster(file)
	return err
}

// AddMasterKey puts a new key above those of a master key file, and returns the ids of
// all that are then in it.
func AddMasterKey(file string) ([]string, error) {
	m, err := seal.AddMaster(file)
	if err != nil {
		return nil, err
	}
	return m.IDs(), nil
}
