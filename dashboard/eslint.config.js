import tseslint from "typescript-eslint";

export default tseslint.config(...tseslint.configs.recommended, {
  files: ["src/**/*.{ts,tsx}", "dev/*.mjs"],
  rules: { eqeqeq: "error", "no-var": "error", "prefer-const": "error" },
});
