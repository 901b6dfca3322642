"""Rules by kind of operator; names are torch's, without the namespace and the in-place underscore."""
