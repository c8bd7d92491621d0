// SPDX-License-Identifier: Apache-2.0
import { isNumber } from '../base/number.js';

// Over its route's limit. Without a limit, an abnormal request counts as slow.
export const isSlow = (req) => !isNumber(req.limitTime) || !isNumber(req.totalTime) || req.totalTime > req.limitTime;
