// SPDX-License-Identifier: Apache-2.0
// Texts of the search that goes to a page, node, app or incident.
export const findMessages = {
	'find.open': ['Go to …', '转到…'],
	'find.title': ['Go to a page, node, app, route, incident or address', '转到页面、节点、应用、路由、故障或地址'],
	'find.hint': ['node, app, route, address, id …', '节点、应用、路由、地址、编号…'],
	'find.found': ['Found', '结果'],
	'find.none': ['Nothing has this name.', '没有此名称。'],
	'find.page': ['page', '页面'],
	'find.node': ['node', '节点'],
	'find.app': ['app', '应用'],
	'find.route': ['route', '路由'],
	'find.request': ['request', '请求'],
	'find.event': ['event', '事件'],
	'find.incident': ['incident', '故障'],
	'find.remote': ['requests from', '来自该地址的请求'],
	'find.upstream': ['requests to upstream', '发往该上游的请求'],
	'find.text': ['requests with this text', '包含此文本的请求'],
	'help.find': ['go to a page, node, app, route, incident or address', '转到页面、节点、应用、路由、故障或地址'],
};
