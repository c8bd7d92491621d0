// SPDX-License-Identifier: Apache-2.0
// Each reason has a colour and a pattern, the same on every page, and always both. Reasons of a family share the colour,
// which is also that of the parts of the time they explain.
/* global REASON_CODES */
const SIZE = 6;

const strokes = [
	null,
	<path d="M-1 1l2-2M0 6l6-6M5 7l2-2" />,
	<path d="M0 1.5h6M0 4.5h6" />,
	<path d="M-1 5l2 2M0 0l6 6M5-1l2 2" />,
	<path d="M1.5 0v6M4.5 0v6" />,
	<path d="M1 2h2M4 5h2" />,
	<path d="M0 3h6M3 0v6" />,
];

/* the first families each have a colour of their own */
const FIRST = strokes.length;
const FAMILIES = ['net', 'client', 'queue', 'cpu', 'io', 'mem'];
const familyOf = (code) => (FAMILIES.includes(code.split('.')[0]) ? code.split('.')[0] : 'wait');

const look = (code, i) => {
	if (i < FIRST) return { colour: `p-${i}`, stroke: strokes[i] };
	const family = familyOf(code);
	const before = REASON_CODES.slice(FIRST, i).filter((c) => familyOf(c) === family).length;
	return { colour: `p-${family}`, stroke: strokes[before % strokes.length] };
};
const looks = REASON_CODES.map(look);

const indexOf = (code) => Math.max(0, REASON_CODES.indexOf(code));
export const fillOf = (code) => `url(#reason-${indexOf(code)})`;

// Used once on every page that draws reasons.
export const Patterns = () => (
	<svg class="patterns" width="0" height="0" aria-hidden="true">
		<defs>
			{REASON_CODES.map((code, i) => (
				<pattern key={code} id={`reason-${i}`} class={`pattern ${looks[i].colour}`} width={SIZE} height={SIZE} patternUnits="userSpaceOnUse">
					<rect width={SIZE} height={SIZE} />
					{looks[i].stroke}
				</pattern>
			))}
		</defs>
	</svg>
);

export const Swatch = ({ code }) => (
	<svg class="swatch" width="14" height="12" aria-hidden="true">
		<rect width="14" height="12" rx="2" fill={fillOf(code)} />
	</svg>
);
