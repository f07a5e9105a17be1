// The square that is shown: [−3, 3]², as catalogue.py has it.

export const HALF = 3;
