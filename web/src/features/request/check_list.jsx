// SPDX-License-Identifier: Apache-2.0
// The checks that found nothing, the checks that could not be made and why, and retransmitted segments.
import { TableHead, Icon, Text } from '../../ui/elements.jsx';
import { count, visible } from '../../text/format.js';
import { t, word } from '../../text/i18n.js';
import { messages } from '../../text/messages.js';

const cleanText = (code) => (`clean.${code}` in messages ? t(`clean.${code}`) : visible(word('reason.', code)));

const Clean = ({ checked }) => (
	<section class="card tall" id="checked">
		<h2>{t('check.clean')}</h2>
		{!checked.length && <p>{t('check.clean.none')}</p>}
		<ul class="checks">
			{checked.map((code) => (
				<li key={code} data-code={code}>
					<Icon name="ok" /> <bdi>{cleanText(code)}</bdi>
				</li>
			))}
		</ul>
	</section>
);

const Unchecked = ({ unchecked, split }) => (
	<section class="card" id="unchecked">
		<h2>{t('check.not')}</h2>
		{!unchecked.length && <p>{t(split ? 'check.not.none' : 'check.not.unsaid')}</p>}
		<ul class="checks">
			{unchecked.map(({ code, why }) => (
				<li key={code} data-code={code} class="warn">
					<Icon name="off" /> <b>{visible(word('reason.', code))}</b>
					{': '}
					<Text of={why} />
				</li>
			))}
		</ul>
	</section>
);

const KINDS = ['syn', 'fast', 'slow-start', 'rto', 'tlp'];
const CUT = 40;
const kindName = (kind) => (KINDS.includes(kind) ? t(`loss.${kind}`) : kind);

const Losses = ({ req }) => {
	const losses = (req.losses ?? []).filter((l) => l.count > 0);
	const clean = (req.checked ?? []).includes('net.loss');
	return (
		<section class="card" id="losses">
			<h2>{t('loss.title')}</h2>
			{!losses.length && <p>{t(clean ? 'loss.clean' : 'loss.none')}</p>}
			{losses.length > 0 && (
				<table class="plain">
					<TableHead at="loss." of={['side', 'kind', 'count']} n={['count']} />
					<tbody>
						{losses.map((l) => (
							<tr key={`${l.side} ${l.kind}`}>
								<td class="wrap">
									<Text of={l.side && word('loss.of.', l.side)} cut={CUT} />
								</td>
								<td class="wrap" title={`loss.${l.kind}.title` in messages ? t(`loss.${l.kind}.title`) : undefined}>
									<Text of={kindName(l.kind)} cut={CUT} />
								</td>
								<td class="n">{count(l.count)}</td>
							</tr>
						))}
					</tbody>
				</table>
			)}
		</section>
	);
};

export const CheckList = ({ req, split }) => (
	<>
		<Clean checked={req.checked ?? []} />
		<Unchecked unchecked={req.unchecked ?? []} split={split} />
		<Losses req={req} />
	</>
);
