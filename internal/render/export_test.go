package render

import "hodl"

// Twin is v with its context changed, but not its shape.
func (v View) Twin(change func(*hodl.ResumeContext)) View {
	change(&v.context)
	return v
}

// Left are the parts that a bound left out.
func (f *Fitted) Left() []Part { return f.parts }

// View is what a bound kept of v, and names of what it did not.
func (f *Fitted) View(v View) View {
	if len(f.parts) == 0 {
		return v
	}
	v = f.view
	v.context.Omitted = nil
	for i, p := range f.parts {
		v.context.Omitted = append(v.context.Omitted, hodl.Omission{What: classNames[p.class], Items: f.items[i], Handle: p.String()})
	}
	return v
}

var OnLines = onLines
