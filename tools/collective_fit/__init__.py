"""Fits presets/collectives to measured collectives; see docs/model/collective.md."""
