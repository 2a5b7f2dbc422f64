"""From observations and packets to Function Cards and Skill Cards, by an Author: rules, or a model."""
