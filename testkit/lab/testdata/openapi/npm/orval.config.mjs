export default {lastword: {input: './openapi.json', output: {target: './orval.ts', client: 'fetch', baseUrl: process.env.BASE}}};
