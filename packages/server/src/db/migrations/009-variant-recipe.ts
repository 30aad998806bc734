/** How a variant was made, to show it; null for those that were rendered before this was kept. */
export const variantRecipe = `
ALTER TABLE variant ADD COLUMN recipe TEXT;
`;
