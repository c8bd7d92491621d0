// SPDX-License-Identifier: Apache-2.0
// A small bar chart for a table cell; the highest bar fills the height.
const SPARK_W = 100;
const SPARK_H = 22;

export const Sparkline = ({ values, label }) => {
	const most = Math.max(1, ...values);
	const w = SPARK_W / values.length;
	const height = (n) => (n ? Math.max(2, (n / most) * (SPARK_H - 1)) : 0);
	return (
		<svg class="spark" height={SPARK_H} viewBox={`0 0 ${SPARK_W} ${SPARK_H}`} preserveAspectRatio="none" role="img" aria-label={label}>
			<title>{label}</title>
			{values.map((n, i) => (
				<rect key={i} x={i * w} y={SPARK_H - 1 - height(n)} width={w - 1} height={height(n)} />
			))}
			<path d={`M0 ${SPARK_H - 0.5}h${SPARK_W}`} />
		</svg>
	);
};
