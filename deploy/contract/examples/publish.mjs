// Publishes one push message to PushFleet and waits until RabbitMQ has it safely.
//
// Needs amqplib: npm install amqplib
// Run: AMQP_URL=amqps://user:password@rabbitmq.example.com/%2F node publish.mjs

import { randomUUID } from 'node:crypto'
import amqp from 'amqplib'

const app = 'com.example.shop'
const lane = 'now' // or 'bulk'

const messageId = randomUUID()
const now = Math.floor(Date.now() / 1000)
const body = {
  app,
  tokens: ['00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0'],
  push_type: 'alert',
  priority: 10,
  collapse_id: 'order-17',
  expires_at: now + 3600,
  payload: { aps: { alert: { title: 'On its way', body: 'Order 17 has left our house.' } } }
}

try {
  const connection = await amqp.connect(process.env.AMQP_URL ?? 'amqp://guest:guest@localhost:5672/%2F')
  const channel = await connection.createConfirmChannel()
  await new Promise((resolve, reject) => {
    connection.on('error', reject)
    channel.on('error', reject) // no such exchange, for example
    channel.on('close', () => reject(new Error('the channel was closed')))
    // RabbitMQ returns an unroutable message before it confirms it; the first call of the two counts.
    channel.on('return', (message) => reject(new Error(`no queue took it: ${message.fields.replyText}`)))
    channel.publish('pushfleet', `${app}.${lane}`, Buffer.from(JSON.stringify(body)), {
      messageId,
      timestamp: now,
      contentType: 'application/json',
      persistent: true,
      mandatory: true // unroutable is an error: the app has no queue
    }, (error) => error ? reject(error) : resolve())
  })
  await connection.close()
} catch (error) {
  // Publish again with the same message_id: it stays one push.
  console.error(`not published: ${error.message}`)
  process.exit(1)
}

console.log(messageId)
