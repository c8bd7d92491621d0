// SPDX-License-Identifier: Apache-2.0
// A component that is drawn again only when a property is another one: thousands of rows stay still.
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
