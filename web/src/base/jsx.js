// SPDX-License-Identifier: Apache-2.0
// The factory of JSX elements (build.mjs). Calls with children as arguments are 2 % shorter than those of the automatic
// runtime, which passes them as a property. No other code uses these names.
export { Fragment as jsxFragment, h as jsxElement } from 'preact';
