// SPDX-License-Identifier: Apache-2.0
// A component that is rendered again only when a property changes, so that thousands of rows stay as they are.
import { Component, h } from 'preact';

export const memo = (Inner) =>
	class Memo extends Component {
		shouldComponentUpdate(next) {
			const was = this.props;
			return Object.keys(next).some((k) => next[k] !== was[k]);
		}
		render() {
			return h(Inner, this.props);
		}
	};
